require "set"

# Algorithms over arrays and hashes.
module Lists
  # Smallest first.
  def self.ascending(numbers)
    sorted = numbers.dup
    (1...sorted.size).each do |i|
      value = sorted.delete_at(i)
      place = (0...i).find { |j| sorted[j] > value } || i
      sorted.insert(place, value)
    end
    sorted
  end

  # Largest first.
  def self.descending(numbers)
    return numbers if numbers.size < 2

    pivot, *rest = numbers
    larger, smaller = rest.partition { |number| number > pivot }
    descending(larger) + [pivot] + descending(smaller)
  end

  # Merge hashes, and hashes inside them; arrays are joined.
  def self.deep_merge(left, right)
    left.merge(right) do |_, a, b|
      if a.is_a?(Hash) && b.is_a?(Hash) then deep_merge(a, b)
      elsif a.is_a?(Array) && b.is_a?(Array) then a | b
      else b
      end
    end
  end

  # Every order of the elements.
  def self.permutations(elements)
    return [elements] if elements.size < 2

    elements.each_index.flat_map do |i|
      rest = elements[0...i] + elements[i + 1..]
      permutations(rest).map { |tail| [elements[i], *tail] }
    end
  end

  # All subsets of a set.
  def self.power_set(elements)
    elements.reduce([[]]) do |subsets, element|
      subsets + subsets.map { |subset| subset + [element] }
    end
  end

  def self.transpose(rows)
    width = rows.map(&:size).max || 0
    Array.new(width) do |column|
      rows.map { |row| row[column] }
    end
  end

  # Walk a tree level by level.
  def self.breadth_first(root)
    queue = [root]
    until queue.empty?
      node = queue.shift
      yield node
      queue.concat(node.children)
    end
  end

  # Walk a tree, children before their parent.
  def self.depth_first(node, &block)
    node.children.each do |child|
      depth_first(child, &block)
    end
    yield node
  end

  # k-means without a library: centres of groups of points.
  def self.k_means(points, k, rounds: 20)
    centres = points.sample(k)
    rounds.times do
      groups = points.group_by { |point| centres.min_by { |c| c.zip(point).sum { |a, b| (a - b)**2 } } }
      centres = groups.values.map do |group|
        group.transpose.map { |axis| axis.sum.fdiv(group.size) }
      end
    end
    centres
  end

  # Two numbers of a list that add up to a target.
  def self.pair_with_sum(numbers, target)
    seen = Set.new
    numbers.each do |number|
      return [target - number, number] if seen.include?(target - number)

      seen << number
    end
    nil
  end

  def self.tally_by_length(words)
    words.each_with_object(Hash.new(0)) do |word, counts|
      counts[word.length] += 1
    end.sort.to_h
  end
end
