using System;
namespace Shop.Core
{
    /// <summary>
    /// Keeps <see cref="Order"/> objects.
    /// </summary>
    [Serializable]
    public sealed class Orders<T> : Base, IOrders where T : class
    {
        public string Name { get; set; }

        /// <summary>Make it.</summary>
        /// <param name="n">How many.</param>
        public Orders(int n) : base(n) { this.n = n; }

        // Add one.
        [Obsolete("use Put")]
        public async Task<int> AddAsync<U>(U item, int k = 1) where U : new()
        {
            int Twice(int a) { return 2 * a; }
            return Twice(k);
        }

        public int Count => n;
        public static Orders<T> operator +(Orders<T> a, Orders<T> b) { return a; }
    }

    public interface IOrders { void Clear(); }
    public record Point(int X, int Y);
}
