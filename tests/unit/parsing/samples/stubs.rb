def one
  raise NotImplementedError, 'later'
end
def two(x)
  # nothing
end
def three = 3
def four
  @f
end
