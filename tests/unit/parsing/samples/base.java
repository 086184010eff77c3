package shop;

/** Keeps orders. */
@Entity(name = "orders")
public class Orders extends Base {
    private int n;

    /**
     * Count the orders.
     */
    @Override
    @Deprecated
    public int count(@Nonnull String name,
                     int limit) {
        return n;
    }

    //////////////////////
    interface Reader {
        @Nullable
        String read(
            String key);
    }

    enum Colour { RED }
}
