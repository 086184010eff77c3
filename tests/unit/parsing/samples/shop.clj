(ns shop.core)

(defn ^:private total
  "The sum of the lines."
  [lines]
  (reduce + lines))

(defmethod area :square [s] (* s s))
(def ^{:added "1.4"} rate 0.2)
