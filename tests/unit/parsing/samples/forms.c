static int (*const handlers[])(int) = {
  one,
  two,
};

void (*hooks[2])(void) = {
  first,
  second,
};

int (*callback)(void);

static int (*const grid[2][2])(int) = {
  {one, two},
  {three, four},
};

struct thing *(*makers[])(void) = {
  first,
  second,
};
