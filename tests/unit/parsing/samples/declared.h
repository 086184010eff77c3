/* Take it from the store. */
void *take(size_t size, int flags);

/**
 * Give it back.
 */
extern void give(const void *part) __attribute__((nonnull));
__like_printf(1, 2) int say(const char *text, ...);
struct part *part_find(struct box *, int);
char * __like_printf(3, 4) __quiet
say_all(struct box *box, int count, const char *text, ...);
int (plus)(int a, int b), (*handler)(int);
static inline int twice(int a)
{
#ifdef LIMIT
	if (a > LIMIT)
		a = LIMIT;
	else if (a < double_of(LIMIT)) {
		a = 0;
	}
#endif
	return 2 * a;
}
EXPORT_SYMBOL(take);
