#import "Shop.h"

/// A shop.
@interface Shop : NSObject <NSCoding>
@property (nonatomic, copy) NSString *name;
/// Open it.
- (void)openAt:(NSDate *)time with:(int)count;
+ (instancetype)shop;
@end

@protocol Counting <NSObject>
- (NSInteger)count;
@end

@interface Shop (Extra)
- (void)extra;
@end

@implementation Shop
- (void)openAt:(NSDate *)time with:(int)count {
    NSLog(@"x");
    dispatch_async(queue, ^{
        [self close];
    });
}
// The shop.
+ (instancetype)shop {
    return [[self alloc] init];
}
@end

@implementation NSString (Loud)
- (NSString *)shout { return [self uppercaseString]; }
@end

struct point { int x; };
/* Add. */
static int add(int a, int b) {
    return a + b;
}
NSString *name(void) { return @"a"; }
