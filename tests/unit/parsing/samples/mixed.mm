@interface Monitor : NSObject
@property (nonatomic) BOOL watching;
+ (Class)class;
@end

template <typename T>
class Handle : public Owner<T>
{
    using Base = Owner<T>;
};
template <typename T> using Shared = Owner<T>;

Rect Rect::fromCGRect(CGRect rect) noexcept
{
    return Rect(rect.origin.x, rect.origin.y);
}

Debug operator<<(Debug debug, CFStringRef text)
{
    return debug << text;
}

@implementation Monitor
+ (Class)class
{
    return self;
}
@end
