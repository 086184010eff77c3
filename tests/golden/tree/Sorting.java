package sorting;

/** Orders arrays. */
public class Sorting {
    /** Sort an array of integers with quicksort. */
    public static void quickSort(int[] values, int low, int high) {
        if (low < high) {
            int pivot = partition(values, low, high);
            quickSort(values, low, pivot - 1);
            quickSort(values, pivot + 1, high);
        }
    }

    /** Find a value in a sorted array by halving it. */
    public static int binarySearch(int[] values, int wanted) {
        int low = 0;
        int high = values.length - 1;
        while (low <= high) {
            int middle = (low + high) / 2;
            if (values[middle] == wanted) {
                return middle;
            } else if (values[middle] < wanted) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    private static int partition(int[] values, int low, int high) {
        return high;
    }
}
