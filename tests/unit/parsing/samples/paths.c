static PATH_FUNC(names, "NAMES")

void read_paths(int *a)
{
}
typedef int proc(int a);
static inline LOG_SOURCE_TYPE source_type(const char *value) {
    return 1;
}
static BOOL granted(HANDLE token __maybe_unused, int unused __unused) {
    return 1;
}
static void timer(uv_timer_t *handle __maybe_unused)
{
}
