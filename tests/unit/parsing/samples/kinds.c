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
