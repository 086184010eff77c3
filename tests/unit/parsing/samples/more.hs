{-# LANGUAGE PatternSynonyms, TypeFamilies #-}
module A where
-- | A pair.
pattern Pair :: a -> b -> (a, b)
pattern Pair x y = (x, y)
pattern Head x <- x : _ where
  Head x = [x]
type family Elem c where
  Elem [e] = e
data family XList a
class Container f where
  type Item f
  empty :: f
  data Key f
instance Container [a] where
  type Item [a] = a
  empty = []
data Rec = Rec { recName :: String, recAge :: Int } | Other
newtype N = N { unN :: Int }

class Folds f where
  size, depth :: f a -> Int
  fold' :: f a -> a
foreign import ccall "sin" c_sin :: Double -> Double
data Term a where
  Lit :: Int -> Term Int
