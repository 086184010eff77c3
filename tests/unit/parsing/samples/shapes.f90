module shapes
contains
  ! Area of a circle.
  pure function area(r) result(a)
    a = 3.14 * r**2
  end function area
end module shapes
