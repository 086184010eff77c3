/**
 * A node of a linked list.
 */
struct node {
    int value;
    struct node *next;
};

typedef struct {
    int x;
} point_t;

enum colour { RED, GREEN };

int prototype(int a);

/***********************
 * Make a node.        *
 ***********************/
static struct node *node_new(int value) /* owned by the caller */
{
    return alloc(value);
}

// Split a line
// at commas.
char **split(const char *line,
             int count)
{
    return 0;
}

/* Choose a comparison. */
int (*choose(int kind))(int, int) {
    return table[kind];
}

#ifdef DEBUG
int main(void) { return 0; }
#endif
