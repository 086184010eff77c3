struct SHOP_EXPORT Handles : Base
{
    int count;
};
