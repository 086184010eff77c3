@class NSDate;

namespace clock {
class Face
{
public:
    NSDate *now() const { return [NSDate date]; }
    bool operator==(const Face &other) const noexcept
    {
        return true;
    }
};
}

Rect Rect::fromCGRect(CGRect rect) noexcept
{
    return Rect(rect.origin.x, rect.origin.y);
}
