@interface Task : NSObject
@property (copy) NSArray *metrics AF_API_AVAILABLE(ios(10), macosx(10.12));
@end
@implementation Task
- (void)collected:(NSArray *)metrics AF_API_AVAILABLE(ios(10)) {
    done();
}
- (void)ended { }
@end
