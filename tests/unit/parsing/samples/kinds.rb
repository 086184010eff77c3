require 'shop'
module Shop
  # Names.
  NAMES = %w[a b].freeze
  TABLE = {
    a: 1
  }.freeze
  ONE = 1
  class Orders
    CALL = ->(x) { x }
    define_method(:open) do |x|
      x
    end
  end
end
task :build do
  sh "x"
  sh "y"
end
