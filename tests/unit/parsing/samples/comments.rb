# Sort it.
#
# Slowly.
def f1
  1
end

##
# Sort it.
def f2
  1
end

=begin
Sort
it.
=end
def f3
  1
end

##########
def f4
  1
end

##########
# Sort it.   #
##########
def f5
  1
end

# rubocop:disable Metrics/AbcSize
def f6
  1
end

# shellcheck disable=SC2034
def f7
  1
end

# frozen_string_literal: true
def f8
  1
end

# -*- coding: utf-8 -*-
def f9
  1
end
