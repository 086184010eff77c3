<?php

namespace Demo;

class Lists
{
    /** Pick one column out of rows, keyed by another. */
    public static function pluck(array $rows, string $value, ?string $key = null): array
    {
        $picked = [];
        foreach ($rows as $row) {
            if ($key === null) {
                $picked[] = $row[$value];
            } else {
                $picked[$row[$key]] = $row[$value];
            }
        }
        return $picked;
    }

    /** Make a tree of rows that name their parents. */
    public static function toTree(array $rows, int $parent = 0): array
    {
        $branch = [];
        foreach ($rows as $row) {
            if ($row['parent'] === $parent) {
                $row['children'] = self::toTree($rows, $row['id']);
                $branch[] = $row;
            }
        }
        return $branch;
    }

    /** Lay a tree out as rows that know their depth. */
    public static function fromTree(array $tree, int $depth = 0): array
    {
        $rows = [];
        foreach ($tree as $node) {
            $children = $node['children'] ?? [];
            unset($node['children']);
            $rows[] = $node + ['depth' => $depth];
            array_push($rows, ...self::fromTree($children, $depth + 1));
        }
        return $rows;
    }

    /** Sort rows by a column. */
    public static function sortBy(array $rows, string $column, bool $descending = false): array
    {
        usort($rows, function (array $a, array $b) use ($column, $descending): int {
            $order = $a[$column] <=> $b[$column];
            return $descending ? -$order : $order;
        });
        return $rows;
    }

    /** Read a setting by a dotted path. */
    public static function get(array $config, string $path, $default = null)
    {
        foreach (explode('.', $path) as $key) {
            if (!is_array($config) || !array_key_exists($key, $config)) {
                return $default;
            }
            $config = $config[$key];
        }
        return $config;
    }

    /** Change a setting by a dotted path. */
    public static function set(array &$config, string $path, $value): void
    {
        $node = &$config;
        foreach (explode('.', $path) as $key) {
            if (!isset($node[$key]) || !is_array($node[$key])) {
                $node[$key] = [];
            }
            $node = &$node[$key];
        }
        $node = $value;
    }

    public static function isAssoc(array $a): bool
    {
        $i = 0;
        foreach ($a as $k => $_) {
            if ($k !== $i++) {
                return true;
            }
        }
        return false;
    }

    /** Choose an element at random, more often where its weight is high. */
    public static function weightedChoice(array $weights)
    {
        $left = random_int(1, array_sum($weights));
        foreach ($weights as $choice => $weight) {
            $left -= $weight;
            if ($left <= 0) {
                return $choice;
            }
        }
        return array_key_last($weights);
    }

    /** Convert rows to CSV text. */
    public static function rowsToCsv(array $rows): string
    {
        $stream = fopen('php://memory', 'r+');
        foreach ($rows as $row) {
            fputcsv($stream, $row);
        }
        rewind($stream);
        return stream_get_contents($stream);
    }

    /** Convert CSV text to rows. */
    public static function csvToRows(string $csv): array
    {
        $rows = [];
        foreach (preg_split('/\R/', trim($csv)) as $line) {
            $rows[] = str_getcsv($line);
        }
        return $rows;
    }
}
