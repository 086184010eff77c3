pragma solidity ^0.8.0;

/// @title A token
contract Token is ERC20 {
    /// Move tokens.
    function transfer(address to) public {
        if (to != owner) {
            emit Moved(to);
        }
    }
}
