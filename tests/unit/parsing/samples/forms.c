static int (*const handlers[])(int) = {
  one,
  two,
};

void (*hooks[2])(void) = {
  first,
  second,
};

int (*callback)(void);
