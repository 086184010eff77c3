#ifdef FAST
class Pump : public Fast {
#else
class Pump : public Slow {
#endif
    int push(int a) { return a; }
};
int close_port(int h)
{
#ifdef LINUX
    if (h) {
#else
    if (h > 0) {
#endif
        h = 0;
    }
#ifdef SLOW
    while (0) {
#endif
#ifndef SLOW
    while (1) {
#endif
    }
    if (h
#ifdef EXTRA
        || h > 2
#endif
    ) { h = 1; }
    return 0;
}
int after(int h) { return h; }
