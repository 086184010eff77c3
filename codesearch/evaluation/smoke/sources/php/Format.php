<?php

namespace Demo;

/** Text, numbers and structures as one another. */
final class Format
{
    /** Number to text with a fixed count of decimals. */
    public static function intToString(int $number, int $width = 0): string
    {
        $digits = (string) abs($number);
        $padded = str_pad($digits, $width, '0', STR_PAD_LEFT);
        return $number < 0 ? '-' . $padded : $padded;
    }

    /** Whole number in a text, or null when there is none. */
    public static function stringToInt(string $text): ?int
    {
        $value = filter_var(trim($text), FILTER_VALIDATE_INT);
        if ($value === false) {
            return null;
        }
        return $value;
    }

    /** Convert nested arrays to an XML document. */
    public static function arrayToXml(array $data, string $root = 'root'): string
    {
        $xml = new \SimpleXMLElement("<{$root}/>");
        $add = function (array $values, \SimpleXMLElement $node) use (&$add): void {
            foreach ($values as $key => $value) {
                $name = is_int($key) ? 'item' : $key;
                is_array($value)
                    ? $add($value, $node->addChild($name))
                    : $node->addChild($name, htmlspecialchars((string) $value));
            }
        };
        $add($data, $xml);
        return $xml->asXML();
    }

    /** Convert an XML document to nested arrays. */
    public static function xmlToArray(string $xml): array
    {
        $document = simplexml_load_string($xml, 'SimpleXMLElement', LIBXML_NOCDATA);
        if ($document === false) {
            throw new \InvalidArgumentException('not well-formed');
        }
        return json_decode(json_encode($document), true);
    }

    /** Escape text for output in a page. */
    public static function escape(?string $text): string
    {
        if ($text === null || $text === '') {
            return '';
        }
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }

    public static function unescape(string $html): string
    {
        $text = html_entity_decode($html, ENT_QUOTES | ENT_HTML5, 'UTF-8');
        $space = "\u{00a0}";
        return str_replace($space, ' ', $text);
    }

    /** 1234567 becomes "1.2 MB". */
    public static function humanSize(int $bytes): string
    {
        $units = ['B', 'kB', 'MB', 'GB', 'TB'];
        $power = $bytes > 0 ? (int) floor(log($bytes, 1000)) : 0;
        $power = min($power, count($units) - 1);
        return round($bytes / 1000 ** $power, 1) . ' ' . $units[$power];
    }

    /** The bytes behind php.ini shorthand such as "128M". */
    public static function bytesFromShorthand(string $size): int
    {
        $value = (int) $size;
        switch (strtolower(substr(trim($size), -1))) {
            case 'g':
                $value *= 1024;
                // fall through
            case 'm':
                $value *= 1024;
                // fall through
            case 'k':
                $value *= 1024;
        }
        return $value;
    }

    /** "#336699" to its red, green and blue parts. */
    public static function hexToRgb(string $color): array
    {
        $color = ltrim($color, '#');
        if (strlen($color) === 3) {
            $color = preg_replace('/(.)/', '$1$1', $color);
        }
        return array_map('hexdec', str_split($color, 2));
    }

    public static function rgbToHex(int $red, int $green, int $blue): string
    {
        $limit = fn (int $channel): int => max(0, min(255, $channel));
        return sprintf('#%02x%02x%02x', $limit($red), $limit($green), $limit($blue));
    }

    /** A price with its currency, the way a country writes it. */
    public static function money(int $cents, string $currency, string $locale = 'en_US'): string
    {
        $formatter = new \NumberFormatter($locale, \NumberFormatter::CURRENCY);
        $text = $formatter->formatCurrency($cents / 100, $currency);
        return $text === false ? number_format($cents / 100, 2) : $text;
    }
}
