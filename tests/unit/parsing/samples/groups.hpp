#pragma once

SHOP_BEGIN_NAMESPACE

/* Why this is here,
   over two lines. */

static inline const Rows *rows(const int *data)
{ return reinterpret_cast<const Rows *>(data); }

class Shelf : public Base
{
    SHOP_OBJECT
    SHOP_PRIVATE(Shelf)

public:
    enum Order {
        First,
        Last
    };
    const Map<bool> *&entry() { return entry_; }
};

class Stock
{
    SHOP_OBJECT
    friend class Shelf;
};

inline Shelf::operator bool() const
{
    return full;
}

template <> inline SHOP_CONSTEXPR quint32 swapped<quint32>(quint32 source)
{
    return source;
}

template class Counter<bool>;

SHOP_END_NAMESPACE
