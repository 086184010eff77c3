  member this.Area(x) =
        1

let inline (>>=) m f =
        1
