/* stages.h: what the files of src/stages offer, by element type. Internal. */
#ifndef TARN_STAGES_H
#define TARN_STAGES_H

#include "stages/attn.h"

extern const struct tarn_form tarn_sim_f32, tarn_sim_f64;
extern const struct tarn_form tarn_sim_grad_f32, tarn_sim_grad_f64;
extern const struct tarn_form tarn_assoc_f32, tarn_assoc_f64;
extern const struct tarn_form tarn_assoc_grad_f32, tarn_assoc_grad_f64;
extern const struct tarn_form tarn_prefix_sequential_f32, tarn_prefix_sequential_f64;
extern const struct tarn_form tarn_prefix_chunked_f32, tarn_prefix_chunked_f64;
extern const struct tarn_form tarn_prefix_scan_f32, tarn_prefix_scan_f64;
extern const struct tarn_form tarn_prefix_grad_f32, tarn_prefix_grad_f64;
extern const struct tarn_form tarn_rnn_f32, tarn_rnn_f64;
extern const struct tarn_form tarn_rnn_grad_f32, tarn_rnn_grad_f64;

#endif
