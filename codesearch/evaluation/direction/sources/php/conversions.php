<?php

/** Convert an array to an object, deeply. */
function arrayToObject(array $array): object
{
    return json_decode(json_encode($array));
}

/** Convert an object to an array, deeply. */
function objectToArray(object $object): array
{
    return json_decode(json_encode($object), true);
}

function xml2array(string $xml): array
{
    return simplexmlNodes(simplexml_load_string($xml));
}

function array2xml(array $array, SimpleXMLElement $xml): string
{
    foreach ($array as $key => $value) {
        is_array($value) ? array2xml($value, $xml->addChild($key)) : $xml->addChild($key, $value);
    }
    return $xml->asXML();
}

function dateToTimestamp(DateTime $date): int
{
    return $date->getTimestamp();
}

function timestampToDate(int $timestamp): DateTime
{
    return (new DateTime())->setTimestamp($timestamp);
}

/** Get the IP address for a long. */
function long2ip(int $ip): string
{
    return implode('.', [$ip >> 24 & 255, $ip >> 16 & 255, $ip >> 8 & 255, $ip & 255]);
}

/** Get the long for an IP address. */
function ip2long(string $ip): int
{
    return array_reduce(explode('.', $ip), fn ($long, $part) => $long << 8 | (int) $part, 0);
}

function snake_to_camel(string $input): string
{
    return lcfirst(str_replace('_', '', ucwords($input, '_')));
}

function camel_to_snake(string $input): string
{
    return strtolower(preg_replace('/(?<!^)[A-Z]/', '_$0', $input));
}

class Roman
{
    public function toRoman(int $number): string
    {
        $roman = '';
        foreach (self::SYMBOLS as $symbol => $value) {
            $roman .= str_repeat($symbol, intdiv($number, $value));
            $number %= $value;
        }
        return $roman;
    }

    public function fromRoman(string $roman): int
    {
        $number = 0;
        foreach (self::SYMBOLS as $symbol => $value) {
            while (str_starts_with($roman, $symbol)) {
                $number += $value;
                $roman = substr($roman, strlen($symbol));
            }
        }
        return $number;
    }
}

/** Returns the colour of an HTML hex code. */
function hexToColor(string $hex): Color
{
    return new Color(...sscanf($hex, '#%02x%02x%02x'));
}

/** Returns the HTML hex code of a colour. */
function colorToHex(Color $color): string
{
    return sprintf('#%02x%02x%02x', $color->red, $color->green, $color->blue);
}

function strToBin(string $str): string
{
    return implode(' ', array_map(fn ($char) => sprintf('%08b', ord($char)), str_split($str)));
}

function binToStr(string $binary): string
{
    return implode('', array_map(fn ($bits) => chr(bindec($bits)), explode(' ', $binary)));
}

function jsonToArray(string $json): array
{
    return json_decode($json, true, 512, JSON_THROW_ON_ERROR);
}

function arrayToJson(array $data): string
{
    return json_encode($data, JSON_THROW_ON_ERROR);
}

function gregoriantojd(int $month, int $day, int $year): int
{
    $a = intdiv(14 - $month, 12);
    return $day + intdiv(153 * ($month + 12 * $a - 3) + 2, 5) + 365 * ($year + 4800 - $a) - 32045;
}

function jdtogregorian(int $julian_day): string
{
    $b = $julian_day + 32044;
    return sprintf('%d/%d/%d', ...fields($b));
}

/** Translate a model into its row of the table. */
function modelToRow(Model $model): array
{
    return array_intersect_key(get_object_vars($model), self::COLUMNS);
}

function rowToModel(array $row): Model
{
    return new Model(...$row);
}
