struct point { int x, y; char *name; int a[3]; void (*fn)(int); struct { int in; } inner; unsigned flag : 1; };
typedef struct { int q; } q_t;
enum colour { RED, GREEN = 2 };
typedef enum { ONE } one_t;
typedef struct node { int key; } node_t, *node_p;
typedef char *(*getter)(void);
typedef void *(walk)(int);
typedef enum : unsigned char { RED } shade_t;
static int first = 1, second;
extern int elsewhere;
#define EACH(x) \
    for (int i = 0; i < x; i++)
#define SQUARE(x) ((x) * (x))

typedef _BitInt(17) narrow_t;
_BitInt(256) add_wide(_BitInt(256) a, _BitInt(256) b) { return a + b; }
#ifdef FAST
int fast = 1;
#elif defined(SLOW)
int slow = 2;
#else
int usual = 3;
#endif
