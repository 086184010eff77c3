function pick(a)
    if a == :end
        a = 1
    else
        a = 2
    end
    a
end

function join(x::T, y::K) where T <: Real where K
    x
end

brief(x::T, y::K)::T where T where K = x

a ⊕ b = a + b
(a::Dot ≈ b::Dot) = true

function (a ⊗ b)
    1
end

function later end
function Base.show end

@enum Tone low high
@enum Size::UInt8 begin
    small
    large = 3
end

primitive type Byte8 8 end

function Base.:(==)(a::Dot, b::Dot)
    true
end
Base.:+(a::Dot, b::Dot) = 1

Pair2{T} = Tuple{T, T}
const Triple{T} = Tuple{T, T, T}

module Inner
const ≅ = isequal
const low!, high = 1, 2
function Base.push!(bag::Bag, item)
    bag.items[end] = item
end
sync!!(bag) = Other.sync!!(bag)
end
