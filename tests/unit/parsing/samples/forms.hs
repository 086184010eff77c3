module Forms where

wipe :: Int -> Int
#ifndef OLD
wipe n = n
#else
wipe n = attempt n

-- | Tries again.
attempt :: Int -> Int
attempt left
  | left == 0 = left
  | otherwise = attempt (left - 1)
#endif

x `foo` y = x
(a <+> b) c = a
(.+.) = undefined

class Joins m where
  (<>) :: m -> m -> m
  a `mapped` b = a

instance Joins Int where
  Box a <> Box b = a
  (+) a b = a

type a :+: b = Either a b
data a :*: b = a :*: b

class a :<: b where
  inject :: a -> b
