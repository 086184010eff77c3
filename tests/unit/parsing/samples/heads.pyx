cdef class Vec:
        1

cpdef double norm(self) except *:
        1

cdef inline int* add(int a, int b) nogil:
        1
