-- Erase a person from what took attention.
update duebook_attention_taken set recipient = :alias where recipient = :recipient
