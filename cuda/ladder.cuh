/* ladder.cuh: how a file lists its rungs. Chapter 11.
 *
 *     rung("k1", run, work)                          for any sizes
 *     rung_up_to(rung(..), fit, &other, "C up to 64")  makes way for another beyond its limit
 *     fused(rung(..))                                  takes q and k as they are
 *     two_rungs<form>::ladder_f32                      k1, k2, and k2 on tensor cores */
#ifndef TARN_LADDER_CUH
#define TARN_LADDER_CUH

#include "cuda/products.cuh"

namespace
{

constexpr tarn_rung rung(const char *name, tarn_status (*run)(tarn_span *),
                         size_t (*work)(const tarn_span *) = nullptr, int least_gpu = 0)
{
    return {name, run, work, nullptr, nullptr, nullptr, least_gpu, false};
}

constexpr tarn_rung rung_up_to(tarn_rung r, tarn_fit (*fit)(const tarn_span *),
                               const tarn_rung *instead, const char *limit)
{
    return {r.name, r.run, r.work, fit, instead, limit, r.least_gpu, r.fused};
}

constexpr tarn_rung fused(tarn_rung r)
{
    return {r.name, r.run, r.work, r.fit, r.instead, r.limit, r.least_gpu, true};
}

/* The ladder of a form that has k1<T>, k1_work<T>, k2<T, cores> and k2_work<T>. */
template <class Form> struct two_rungs {
    template <class Kind> static constexpr tarn_rung on_tensor_cores(const char *name)
    {
        return rung(name, Form::template k2<float, tensor_cores<Kind>>,
                    Form::template k2_work<float>, tensor_cores<Kind>::least_gpu);
    }
    static constexpr tarn_rung f32[] = {
        rung("k1", Form::template k1<float>, Form::template k1_work<float>),
        rung("k2", Form::template k2<float, plain_cores<float>>,
             Form::template k2_work<float>),
        on_tensor_cores<tf32>("tf32"), on_tensor_cores<bf16>("bf16")};
    static constexpr tarn_rung f64[] = {
        rung("k1", Form::template k1<double>, Form::template k1_work<double>),
        rung("k2", Form::template k2<double, plain_cores<double>>,
             Form::template k2_work<double>)};
    static constexpr tarn_ladder ladder_f32 = {f32, 4, 1}, ladder_f64 = {f64, 2, 1};
};

} // namespace
#endif
