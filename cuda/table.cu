/* table.cu: the ladders of all forms in one table, for each element type. Chapter 11. */
#include "cuda/launch.cuh"

extern "C" {

extern const tarn_ladder TARN_TABLE(sim, f32), TARN_TABLE(sim, f64);
extern const tarn_ladder TARN_TABLE(sim_grad, f32), TARN_TABLE(sim_grad, f64);
extern const tarn_ladder TARN_TABLE(assoc, f32), TARN_TABLE(assoc, f64);
extern const tarn_ladder TARN_TABLE(assoc_grad, f32), TARN_TABLE(assoc_grad, f64);
extern const tarn_ladder TARN_TABLE(prefix, f32), TARN_TABLE(prefix, f64);
extern const tarn_ladder TARN_TABLE(prefix_grad, f32), TARN_TABLE(prefix_grad, f64);
extern const tarn_ladder TARN_TABLE(rnn, f32), TARN_TABLE(rnn, f64);
extern const tarn_ladder TARN_TABLE(rnn_grad, f32), TARN_TABLE(rnn_grad, f64);
extern const tarn_device_phi TARN_TABLE(phi, f32), TARN_TABLE(phi, f64);
tarn_status TARN_TABLE(search, f32)(tarn_context *ctx, const tarn_search *s);
tarn_status TARN_TABLE(search, f64)(tarn_context *ctx, const tarn_search *s);

/* In the order of struct tarn_device_forms. */
extern const tarn_device_forms TARN_TABLE(forms, f32), TARN_TABLE(forms, f64);
const tarn_device_forms TARN_TABLE(forms, f32) = {
    &TARN_TABLE(sim, f32),    &TARN_TABLE(sim_grad, f32),
    &TARN_TABLE(assoc, f32),  &TARN_TABLE(assoc_grad, f32),
    &TARN_TABLE(prefix, f32), &TARN_TABLE(prefix_grad, f32),
    &TARN_TABLE(rnn, f32),    &TARN_TABLE(rnn_grad, f32),
    &TARN_TABLE(phi, f32),    TARN_TABLE(search, f32)};
const tarn_device_forms TARN_TABLE(forms, f64) = {
    &TARN_TABLE(sim, f64),    &TARN_TABLE(sim_grad, f64),
    &TARN_TABLE(assoc, f64),  &TARN_TABLE(assoc_grad, f64),
    &TARN_TABLE(prefix, f64), &TARN_TABLE(prefix_grad, f64),
    &TARN_TABLE(rnn, f64),    &TARN_TABLE(rnn_grad, f64),
    &TARN_TABLE(phi, f64),    TARN_TABLE(search, f64)};
}
