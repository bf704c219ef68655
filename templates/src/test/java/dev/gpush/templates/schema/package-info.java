/** Tests of the schema and its page. */
@org.jspecify.annotations.NullMarked
package dev.gpush.templates.schema;
