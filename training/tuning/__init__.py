"""Fine-tune the bag of a bundle on questions, with the wrong results of the product as negatives."""
