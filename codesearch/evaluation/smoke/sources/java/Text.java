package demo.text;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class Text {
    /** Run-length encoding: "aaab" becomes "3a1b". */
    public static String runLengthEncode(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0, run; i < text.length(); i += run) {
            run = 1;
            while (i + run < text.length() && text.charAt(i + run) == text.charAt(i)) {
                run++;
            }
            out.append(run).append(text.charAt(i));
        }
        return out.toString();
    }

    /** Undoes the run-length encoding: "3a1b" becomes "aaab". */
    public static String runLengthDecode(String packed) {
        StringBuilder out = new StringBuilder();
        int count = 0;
        for (char c : packed.toCharArray()) {
            if (Character.isDigit(c)) {
                count = count * 10 + (c - '0');
            } else {
                out.append(String.valueOf(c).repeat(count));
                count = 0;
            }
        }
        return out.toString();
    }

    /** Puts characters before a text until it has the width. */
    public static String padLeft(String text, int width, char fill) {
        int missing = width - text.length();
        if (missing <= 0) {
            return text;
        }
        char[] padding = new char[missing];
        Arrays.fill(padding, fill);
        return new String(padding) + text;
    }

    /** Removes a character from the start of a text. */
    public static String stripLeft(String text, char unwanted) {
        int start = 0;
        while (start < text.length() && text.charAt(start) == unwanted) {
            start++;
        }
        return text.substring(start);
    }

    /** First letter of each word in upper case. */
    public static String titleCase(String sentence) {
        StringBuilder title = new StringBuilder(sentence.toLowerCase());
        boolean begins = true;
        for (int i = 0; i < title.length(); i++) {
            if (begins) {
                title.setCharAt(i, Character.toUpperCase(title.charAt(i)));
            }
            begins = Character.isWhitespace(title.charAt(i));
        }
        return title.toString();
    }

    public static boolean isAnagram(String a, String b) {
        char[] left = a.replace(" ", "").toLowerCase().toCharArray();
        char[] right = b.replace(" ", "").toLowerCase().toCharArray();
        Arrays.sort(left);
        Arrays.sort(right);
        return Arrays.equals(left, right);
    }

    /** Splits a CSV line at commas outside quotes. */
    public static List<String> splitCsv(String line) {
        List<String> cells = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (char c : line.toCharArray()) {
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                cells.add(cell.toString());
                cell.setLength(0);
            } else {
                cell.append(c);
            }
        }
        cells.add(cell.toString());
        return cells;
    }

    /** Luhn check of a card number. */
    public static boolean isValidCard(String number) {
        int sum = 0;
        for (int i = 0; i < number.length(); i++) {
            int digit = number.charAt(number.length() - 1 - i) - '0';
            if (i % 2 == 1) {
                digit = digit > 4 ? digit * 2 - 9 : digit * 2;
            }
            sum += digit;
        }
        return sum % 10 == 0;
    }

    static int vowels(String s) {
        int n = 0;
        for (char c : s.toLowerCase().toCharArray()) {
            if ("aeiou".indexOf(c) >= 0) {
                n++;
            }
        }
        return n;
    }
}
