package demo.structures;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;

public class Structures {
    /** A stack in an array. */
    static class IntStack {
        private int[] data = new int[4];
        private int size;

        /** Pushes a value, growing the array when it is full. */
        void push(int value) {
            if (size == data.length) {
                data = Arrays.copyOf(data, size * 2);
            }
            data[size++] = value;
        }

        /** Pops the value that was pushed last. */
        int pop() {
            if (size == 0) {
                throw new NoSuchElementException("stack is empty");
            }
            return data[--size];
        }
    }

    /** A queue of fixed capacity in a circle. */
    static class RingBuffer<T> {
        private final Object[] slots;
        private int head;
        private int count;

        RingBuffer(int capacity) {
            if (capacity < 1) {
                throw new IllegalArgumentException("capacity " + capacity);
            }
            slots = new Object[capacity];
        }

        /** Adds an element at the end; false when there is no room. */
        boolean enqueue(T element) {
            if (count == slots.length) {
                return false;
            }
            slots[(head + count++) % slots.length] = element;
            return true;
        }

        /** Removes the element at the front; null when there is none. */
        @SuppressWarnings("unchecked")
        T dequeue() {
            if (count == 0) {
                return null;
            }
            T first = (T) slots[head];
            slots[head] = null;
            head = (head + 1) % slots.length;
            count--;
            return first;
        }
    }

    /** A binary tree of numbers. */
    static class Node {
        int key;
        Node left;
        Node right;

        Node insert(int wanted) {
            if (wanted < key) {
                left = left == null ? leaf(wanted) : left.insert(wanted);
            } else if (wanted > key) {
                right = right == null ? leaf(wanted) : right.insert(wanted);
            }
            return this;
        }

        static Node leaf(int key) {
            Node node = new Node();
            node.key = key;
            node.left = node.right = null;
            return node;
        }

        /** Number of levels below and including this node. */
        int height() {
            int below = 0;
            for (Node child : new Node[] {left, right}) {
                below = child == null ? below : Math.max(below, child.height());
            }
            return below + 1;
        }

        /** Visits all keys in ascending order. */
        void inOrder(java.util.function.IntConsumer visitor) {
            if (left != null) {
                left.inOrder(visitor);
            }
            visitor.accept(key);
            if (right != null) {
                right.inOrder(visitor);
            }
        }
    }

    /** Sorts names from A to Z. */
    public static void sortAscending(List<String> names) {
        for (int end = names.size() - 1; end > 0; end--) {
            for (int i = 0; i < end; i++) {
                if (names.get(i).compareTo(names.get(i + 1)) > 0) {
                    Collections.swap(names, i, i + 1);
                }
            }
        }
    }

    /** Sorts names from Z to A. */
    public static void sortDescending(List<String> names) {
        Comparator<String> order = Comparator.naturalOrder();
        names.sort(order.reversed());
    }

    /** Merge sort: stable, and the same time for any input. */
    public static int[] mergeSort(int[] values) {
        if (values.length < 2) {
            return values;
        }
        int middle = values.length / 2;
        int[] left = mergeSort(Arrays.copyOfRange(values, 0, middle));
        int[] right = mergeSort(Arrays.copyOfRange(values, middle, values.length));
        int[] merged = new int[values.length];
        for (int i = 0, l = 0, r = 0; i < merged.length; i++) {
            boolean takeLeft = r == right.length || l < left.length && left[l] <= right[r];
            merged[i] = takeLeft ? left[l++] : right[r++];
        }
        return merged;
    }

    /** Checks that every bracket is closed by its own kind, in order. */
    public static boolean isBalanced(String text) {
        Deque<Character> open = new ArrayDeque<>();
        for (char c : text.toCharArray()) {
            int kind = "([{".indexOf(c);
            if (kind >= 0) {
                open.push(")]}".charAt(kind));
            } else if (")]}".indexOf(c) >= 0 && (open.isEmpty() || open.pop() != c)) {
                return false;
            }
        }
        return open.isEmpty();
    }

    /** Counts equal elements. */
    public static <T> Map<T, Integer> histogram(Iterable<T> elements) {
        Map<T, Integer> counts = new HashMap<>();
        for (T element : elements) {
            counts.merge(element, 1, Integer::sum);
        }
        return counts;
    }

    static <K, V extends Comparable<V>> Map<K, V> byValue(Map<K, V> map) {
        Map<K, V> ordered = new LinkedHashMap<>();
        map.entrySet().stream()
                .sorted(Map.Entry.comparingByValue())
                .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
        return ordered;
    }

    static int drain(Queue<Runnable> jobs) {
        int done = 0;
        for (Runnable job; (job = jobs.poll()) != null; done++) {
            job.run();
        }
        return done;
    }
}
