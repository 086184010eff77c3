function Get-Nothing { }

function Reset-Cache() {
    # Nothing to do.
}

filter Skip-All {}

configuration Web {
    Node localhost { }
}

Describe 'Cart' {
    It "has no items" {
        $count | Should -Be 0
    }
}

class Base { Base() { } [void] Clear() { } }
