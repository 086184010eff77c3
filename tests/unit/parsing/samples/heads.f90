  type, public :: shape
        1

real(kind=8) pure function area(r) result(a)
        1

character(len=:), allocatable function name(x)
        1
