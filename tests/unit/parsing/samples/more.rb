Point = Data.define(:x, :y) do
  def dist
    x + y
  end
end
class Robot
  Part = Struct.new(:a) do
    def total
      a
    end
  end
  Err = Class.new(StandardError)
  Pair = Struct.new(:a, :b, keyword_init: true)
  Mod = Module.new do
    def hi; end
  end
  Late = Class.new(Base) { def go; end }.new
  define_method("named") { |x| x }
  define_singleton_method(:solo) do
    1
  end
  attr_accessor :name, :age
end
describe "cart" do
  it "adds one" do
    a
    b
  end
  test "x" do
    1
  end
end
Nested::Point = Struct.new(:x) do
  alias across x
  def far; end
end
String.class_eval do
  def patched; end
end
module Shout
  refine String do
    def shout; end
  end
end
