package demo.convert;

import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;

/** Turns values of one type into another. */
public final class Converter {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("dd.MM.yyyy", Locale.ROOT);

    private Converter() {
        throw new AssertionError("no instances");
    }

    /** Writes a number in decimal, with a thin group mark every three digits. */
    public static String intToString(int value, char mark) {
        StringBuilder digits = new StringBuilder(Integer.toString(Math.abs(value)));
        for (int at = digits.length() - 3; at > 0; at -= 3) {
            digits.insert(at, mark);
        }
        return value < 0 ? "-" + digits : digits.toString();
    }

    /** Reads a decimal number; anything else gives the fallback. */
    public static int stringToInt(String text, int fallback) {
        if (text == null || text.isBlank()) {
            return fallback;
        }
        try {
            return Integer.parseInt(text.trim());
        } catch (NumberFormatException e) {
            return fallback;
        }
    }

    /**
     * Encodes bytes as hexadecimal digits.
     */
    public static String toHex(byte[] bytes) {
        final char[] alphabet = "0123456789abcdef".toCharArray();
        char[] out = new char[bytes.length * 2];
        for (int i = 0; i < bytes.length; i++) {
            out[2 * i] = alphabet[(bytes[i] >> 4) & 0xf];
            out[2 * i + 1] = alphabet[bytes[i] & 0xf];
        }
        return new String(out);
    }

    /**
     * Decodes hexadecimal digits to the bytes they stand for.
     */
    public static byte[] fromHex(String digits) {
        if (digits.length() % 2 != 0) {
            throw new IllegalArgumentException("odd length");
        }
        byte[] out = new byte[digits.length() / 2];
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        }
        return out;
    }

    /** Parses a date written as day.month.year. */
    public static LocalDate parseDate(String text) {
        try {
            return LocalDate.parse(text.strip(), DAY);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("not a date: " + text, e);
        }
    }

    public static String formatDate(LocalDate date) {
        if (date == null) {
            return "";
        }
        return date.format(DAY);
    }

    /** Radians of an angle given in degrees. */
    public static double degreesToRadians(double degrees) {
        double normal = degrees % 360.0;
        if (normal < 0) {
            normal += 360.0;
        }
        return normal / 180.0 * Math.PI;
    }

    /** Degrees of an angle given in radians. */
    public static double radiansToDegrees(double radians) {
        double full = 2 * Math.PI;
        double normal = ((radians % full) + full) % full;
        return normal * 180.0 / Math.PI;
    }

    static String romanOf(int n) {
        int[] values = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
        String[] signs = {"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"};
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            for (; n >= values[i]; n -= values[i]) {
                out.append(signs[i]);
            }
        }
        return out.toString();
    }

    static int valueOfRoman(String roman) {
        String order = "IVXLCDM";
        int[] worth = {1, 5, 10, 50, 100, 500, 1000};
        int sum = 0;
        for (int i = 0; i < roman.length(); i++) {
            int here = worth[order.indexOf(roman.charAt(i))];
            boolean smaller = i + 1 < roman.length() && here < worth[order.indexOf(roman.charAt(i + 1))];
            sum += smaller ? -here : here;
        }
        return sum;
    }

    /** Copies the elements of an array into a list that can grow. */
    public static <T> List<T> arrayToList(T[] array) {
        List<T> list = new ArrayList<>(array.length);
        for (T element : array) {
            list.add(element);
        }
        return list;
    }

    /** Copies a list of numbers into a plain array. */
    public static int[] listToArray(List<Integer> list) {
        int[] array = new int[list.size()];
        int next = 0;
        for (Integer element : list) {
            array[next++] = element == null ? 0 : element;
        }
        return array;
    }

    /** How long ago a moment was, in words: "3 hours ago". */
    public static String timeAgo(Date then, Date now) {
        Duration gone = Duration.between(then.toInstant(), now.toInstant());
        if (gone.toDays() > 0) {
            return gone.toDays() + " days ago";
        }
        if (gone.toHours() > 0) {
            return gone.toHours() + " hours ago";
        }
        return gone.toMinutes() > 0 ? gone.toMinutes() + " minutes ago" : "just now";
    }
}
