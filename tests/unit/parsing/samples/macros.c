static __always_inline __size_of(1) void *take(size_t size, flags_t flags)
{
	return slow(size, flags);
}

static __like_printf(1, 2) int warn(const char *text, ...)
{
	return 0;
}

__like_printf(1, 2)
int warn_twice(const char *text, ...)
{
	return 0;
}

static __section(".early") int early(struct place *p)
{
	return 0;
}

asmlinkage __visible void __start __no_checks begin(void)
{
	once();
}

int locked(int a) __must_hold(&lock) __releases(x)
{
	return a;
}

struct page {
	unsigned long flags;
	struct {
		int a;
	} __packed;
	atomic_t count ____cacheline_aligned_in_smp;
	struct head head __aligned(8);
	int map[10] __aligned(4);
	int (*ops)(struct page *p) __rcu;
	struct device *(*owner)(struct page *p);
	unsigned int __reserved;
	__le32 size __private;
} __attribute__((packed)) __aligned(16);

static const struct operations table __ro_after_init = {
	.open = a,
	.close = b,
};

static unsigned int __read_mostly limit;
typedef __u32 __bitwise kind_t;
typedef void (APIENTRY *hook_t)(int);
typedef void (APIENTRYP star_t)(int);

static void loops(struct list *list)
{
	list_for_each_entry(p, &list->head, node)
		use(p);
	do {
		next();
	} while_each_thread(a, b);
	TAILQ_FOREACH(p, &list->panes, entry) {
		use(p);
	}
}

static void after(void)
{
	done();
}

__owur STACK_OF(NODE) *nodes_of(struct list *list, STACK_OF(NODE) **more,
    int count);
__owur int older(struct list *list);

__owur STACK_OF(NODE) *younger(struct list *list)
{
	return list->nodes;
}
