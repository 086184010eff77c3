module A where

#if X
a = 1
#else
b = 2

c = = 3
#endif
