struct point { int x, y; char *name; int a[3]; void (*fn)(int); struct { int in; } inner; unsigned flag : 1; };
typedef struct { int q; } q_t;
enum colour { RED, GREEN = 2 };
typedef enum { ONE } one_t;
typedef struct node { int key; } node_t, *node_p;
typedef char *(*getter)(void);
typedef void *(walk)(int);
