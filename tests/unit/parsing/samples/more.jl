module M
twice = x -> begin
  x * 2
end
half = function (x)
  x / 2
end
struct P
  x::Int
  y
end
@testset "adds" begin
  @test 1 == 1
end
@enum Colour red green
end

mutable struct Account
  const id::Int
  const owner
  @atomic hits::Int
  balance::Float64 = 0.0
end
