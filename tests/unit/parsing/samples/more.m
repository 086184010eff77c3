@interface Shop : NSObject { int count; }
@property (nonatomic, copy) NSString *name;
@property int size;
@end
typedef NS_ENUM(NSInteger, Colour) { ColourRed, ColourGreen };
struct p { int x, *y; };
enum k { A, B = 2 };
typedef void (^Done)(int code);
static NSString *const kName = @"x";
