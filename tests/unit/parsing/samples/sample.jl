module Shop

"""
    total(lines)

The total.
"""
function total(lines::Vector{T}; rate=1.0)::Float64 where {T<:Real}
    helper(x) = x + 1
    return sum(lines)
end

# Area of it.
area(s::Square) = s.side^2

abstract type Shape end
struct Square{T} <: Shape
    side::T
    Square(s) = new(s)
end
mutable struct Cart
    n::Int
end
macro twice(ex)
    return ex
end
Base.show(io::IO, s::Square) = print(io, "x")
function Base.length(c::Cart)
    c.n
end
const TABLE = Dict(
    1 => 2,
    3 => 4,
)
f = x -> x + 1
map(1:2) do x
    x + 1
    x + 2
end
end

Pair{K}(k::K) = 1
Pair{K}(k::K, v) = 2
