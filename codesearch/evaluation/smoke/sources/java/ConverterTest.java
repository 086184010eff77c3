package demo.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ConverterTest {
    private Random random;

    @BeforeEach
    void seedTheRandomNumbers() {
        random = new Random(20);
        for (int i = 0; i < 3; i++) {
            random.nextInt();
        }
    }

    @Test
    void stringToIntReadsWhatIntToStringWrote() {
        for (int i = 0; i < 100; i++) {
            int value = random.nextInt(900);
            assertEquals(value, Converter.stringToInt(Converter.intToString(value, ','), -1));
        }
    }

    @Test
    void hexDigitsComeInPairs() {
        assertEquals("00ff", Converter.toHex(new byte[] {0, -1}));
        assertEquals(2, Converter.fromHex("00ff").length);
        assertThrows(IllegalArgumentException.class, () -> Converter.fromHex("abc"));
    }

    private static String randomWord(Random random, int length) {
        StringBuilder word = new StringBuilder();
        for (int i = 0; i < length; i++) {
            word.append((char) ('a' + random.nextInt(26)));
        }
        return word.toString();
    }
}
