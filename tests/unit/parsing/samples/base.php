<?php
namespace App\Models;

/** Finds users. */
#[Entity]
final class User extends Model implements Named
{
    use Timestamps;

    /**
     * Find one.
     */
    #[Cached(60)]
    public static function find(int $id): ?self
    {
        return null;
    }

    abstract function name(): string;
}

interface Named { function name(): string; }

// Say hello.
function hello(): void {}

usort($users, function ($a, $b) {
    return $a <=> $b;
});
