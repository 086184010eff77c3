<?php
class Person {
    public string $full {
        get => $this->first . " " . $this->last;
        set(string $v) {
            $this->first = $v;
        }
    }
    public function __construct(public string $nick { get => 1; }, private int $n = 3) {}
    public string $plain = 'a';
    private static $all = ['a', 'b'];
    const ONE = 1;
}
interface HasName { public string $name { get; } }
enum Suit: string { case Hearts = 'H'; const X = 1; }
class Person {
    public function __construct(
        public string $name { set(string $v) { $this->name = trim($v); } },
        private int $age = 0,
    ) {}
}

$double = fn($x) => $x * 2;

$handler = new class($x) {
    private $calls = 0;
    private function run() { return new class { public function inner() {} }; }
};
?>
<form class="login">
  <input name="user">
</form>
<?php
return new class extends Migration {
    public function up(): void {}
};
