-- | Sort
-- it.
f1 x = x

{- | Sort it. -}
f2 x = x
