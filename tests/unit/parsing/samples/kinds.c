/* Points and colours. */
#ifndef SHOP_H
#define SHOP_H
#include <stdio.h>
#define ONE 1
#define TWO 2
typedef unsigned int u32;
typedef int (*compare)(int);
typedef struct point point_t;
typedef enum { RED } colour_t;
static const char *names[] = {
  "a",
};
int run(void);
union bits { int a; };
static int stop(void) { int local[] = {
  1 }; }
#endif

#if defined(A)
int start(int x)
#else
int start(char x)
#endif
{
    return x;
}
static int each(struct list *list UNUSED, int n)
{
    list_for_each(item, list)
        visit(item, va_arg(n, char *));
    return n;
}
