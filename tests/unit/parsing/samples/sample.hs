{-# LANGUAGE X #-}
-- | Module docs.
module Foo.Bar (a) where

import Data.List

-- | A stack.
data Stack a = Empty
  | Cons a (Stack a)
  deriving (Show)

newtype Wrap = Wrap { unwrap :: Int }
type Alias = [Int]

-- | Class docs.
class Shape a where
  area :: a -> Double
  area _ = 0

instance Shape Int where
  area x = fromIntegral x

-- | Push it.
push :: a -> Stack a -> Stack a
push x Empty = Cons x Empty
push x s = Cons x s
  where helper y = y

limit :: Int
limit = 10
(<+>) :: Int -> Int -> Int
a <+> b = a + b
