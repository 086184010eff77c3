#!/usr/bin/env ruby
# frozen_string_literal: true
module Shop
  ##
  # Keeps orders.
  class Store::Orders < Base
    # Make one.
    def self.make(name,
                  price: 1)
      # Not the docstring.
      new
    end

=begin
Long comment.
=end
    def ==(other) = true

    def empty?; end

    class << self
      def build; 1; end
    end
  end
end
